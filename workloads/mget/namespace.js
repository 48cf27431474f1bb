/** Where the keys of `dragstrip mget` are while a run lasts. */

import { rowsNamespace } from '../rows-namespace.js';

export const namespace = rowsNamespace('mget');
