/**
 * A schedule determines the actions of the contenders of a round and their order: a generator of
 * steps that depends on its inputs and on earlier measurements, and reads no clock. The steps of
 * one array may run concurrently. engine/round.js plays them.
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
 * @property {number} of total number of blocks; 0: unknown
 * @property {boolean} lead not counted
 * @property {number} [slot] slot of a timetable
 * @property {import('../contender.js').Start} [start]
 *
 * @typedef {object} Scheduled view of a contender for schedules
 * @property {number} every interval of blocks in which it runs
 * @property {{ opener: string, tasks: readonly unknown[] }} spec tasks: null for a load that it
 *   does not have
 *
 * @typedef {object} Seen measurements of the round so far
 * @property {(seat: number) => boolean} isOut it takes no further part
 * @property {(seat: number, load: number) => boolean} isRefused
 * @property {(seat: number, load: number) => number} costNs per operation; NaN: unknown
 * @property {() => number} nowNs on the system's monotonic clock
 */

export { blocks } from './blocks.js';
export { search } from './search.js';
export { timed, timetableOf } from './timed.js';
export { orderOfRound, wholeSegment } from './whole.js';
