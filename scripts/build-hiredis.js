#!/usr/bin/env node
/** Builds hiredis-node for this Node: `npm run build:hiredis`. */

import { builtBinary } from '../lib/hiredis-build.js';
import { findHome } from '../lib/home.js';
import { buildHiredis } from '../storages/hiredis-build.js';

const home = findHome();
const { built, reason } = await buildHiredis({ home });
process.stdout.write(
  built ? `hiredis is built: ${builtBinary(home)}\n` : `hiredis is not built: ${reason}\n`,
);
