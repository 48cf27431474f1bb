/**
 * A schedule says what the contenders of a round do, and in which order: a generator of steps that
 * depends on its inputs and on what was seen so far, and reads no clock. The steps of one array may
 * run side by side. engine/round.js plays them.
 */

/**
 * @typedef {{ do: 'open' | 'pin' | 'close', seat: number }
 *   | { do: 'warm', seat: number, loads: readonly number[] }
 *   | { do: 'skip', seat: number, load: number }
 *   | RunStep
 *   | { do: 'barrier' }} Step skip: no segment in this block; barrier: wait for the other machines
 *
 * @typedef {object} RunStep
 * @property {'run'} do
 * @property {number} seat
 * @property {number} load
 * @property {import('../contender.js').Amount} amount
 * @property {number} block
 * @property {number} of how many blocks there are; 0: not known
 * @property {boolean} lead not counted
 * @property {number} [slot] of a timetable
 * @property {import('../contender.js').Start} [start]
 *
 * @typedef {object} Scheduled a contender, as far as schedules look at it
 * @property {number} every in how many blocks it runs once
 * @property {{ opener: string, tasks: readonly unknown[] }} spec tasks: null where it lacks a load
 *
 * @typedef {object} Seen what the round has shown so far
 * @property {(seat: number) => boolean} isOut it takes no further part
 * @property {(seat: number, load: number) => boolean} isRefused
 * @property {(seat: number, load: number) => number} costNs per operation; NaN: not known
 * @property {() => number} nowNs on the system's monotonic clock
 */

export { blocks } from './blocks.js';
export { search } from './search.js';
export { timed, timetableOf } from './timed.js';
export { orderOfRound, whole } from './whole.js';
