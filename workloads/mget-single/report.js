/** Single reads of the keys of mget are shown in the tables of mget. */

export { report } from '../mget/report.js';
