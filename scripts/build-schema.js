/** Writes docs/result.schema.json from the zod schema; a test compares the two. */

import { writeFileSync } from 'node:fs';
import { resultJsonSchema } from '../lib/result.js';

const file = new URL('../docs/result.schema.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(resultJsonSchema(), null, 2)}\n`);
