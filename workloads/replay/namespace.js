/** Where the keys of a replay are while a run lasts. */

import { rowsNamespace } from '../rows-namespace.js';

export const namespace = rowsNamespace('replay');
