/** Parts shared by the schemas of a result. */

import { z } from 'zod';

export const count = z.number().int().nonnegative();
export const nanoseconds = z.number().nonnegative();
export const text = z.string();
