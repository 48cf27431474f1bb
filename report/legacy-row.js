/** Rows of tables that are not yet of the model; goes with the last of them. */

/**
 * @typedef {{ name: string, head: [string, string], align: 'left' | 'right', drop: number, text:
 * (row: any) => string }} Column
 */
/** @typedef {{ title: string, columns: Column[], rows: any[] }} Table */

export const NEUTRAL_ROW = Object.freeze({});

/** @param {any} row */
export const needsMark = ({ mark }) => mark === 'wrong';
