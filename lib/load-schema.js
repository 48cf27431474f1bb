/** The load of a benchmark in a result: part of its schema. */

import { z } from 'zod';
import { count, nanoseconds } from './schema-parts.js';

export const load = z.object({
  kind: z.enum(['sync', 'window', 'burst', 'rate']),
  inFlight: count.nullable().describe('null: all at once, or at their due times'),
  operations: count.nullable(),
  durationNs: nanoseconds.nullable(),
  rate: z.number().positive().optional().describe('open loop: operations due per second'),
  arrivals: z
    .enum(['constant', 'poisson', 'trace'])
    .optional()
    .describe('trace: recorded times, whose mean is the rate'),
  maxInFlight: count.optional().describe('open loop: arrivals beyond it are dropped'),
  onOutage: z.enum(['continue']).optional().describe('open loop; absent: an outage ends it'),
  processes: count
    .optional()
    .describe(
      'processes that share the load by operation index, each with one in flight for sync; absent: 1',
    ),
  connections: count
    .optional()
    .describe('number of connections for the requests in flight; absent: 1'),
  valueSize: count
    .optional()
    .describe(
      'value size of the rows, which were created for this run; absent: that of the dataset',
    ),
});
