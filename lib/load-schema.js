/** The load of a benchmark, as a result has it: part of its schema. */

import { z } from 'zod';
import { count, nanoseconds } from './schema-parts.js';

export const load = z.object({
  kind: z.enum(['sync', 'window', 'burst', 'rate']),
  inFlight: count.nullable().describe('null: all at once, or when each is due'),
  operations: count.nullable(),
  durationNs: nanoseconds.nullable(),
  rate: z.number().positive().optional().describe('of an open loop: operations due a second'),
  arrivals: z
    .enum(['constant', 'poisson', 'trace'])
    .optional()
    .describe('trace: its own times, whose mean is the rate'),
  maxInFlight: count.optional().describe('open loop: arrivals beyond it are dropped'),
  onOutage: z.enum(['continue']).optional().describe('open loop; absent: an outage ends it'),
  processes: count
    .optional()
    .describe('that share the load by operation index; one in flight is one for each; absent: 1'),
  connections: count.optional().describe('that the requests in flight are spread over; absent: 1'),
  valueSize: count
    .optional()
    .describe('of the rows that are read, which were made for this run; absent: of the dataset'),
});
