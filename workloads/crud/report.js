/** What is shown of changes of rows: the same as of a mix of reads and writes. */

export { report } from '../mix/report.js';
