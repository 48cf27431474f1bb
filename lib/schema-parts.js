/** Parts that the schemas of a result share. */

import { z } from 'zod';

export const count = z.number().int().nonnegative();
export const nanoseconds = z.number().nonnegative();
export const text = z.string();
