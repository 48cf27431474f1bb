#!/usr/bin/env node
/** Builds hiredis-node for this Node: `npm run build:hiredis`. */

import { findHome } from '../lib/home.js';
import { builtBinary } from '../storages/hiredis.js';
import { buildHiredis } from '../storages/hiredis-build.js';

const home = findHome();
const { built, reason } = await buildHiredis({ home });
process.stdout.write(
  built ? `hiredis is built: ${builtBinary(home)}\n` : `hiredis is not built: ${reason}\n`,
);
