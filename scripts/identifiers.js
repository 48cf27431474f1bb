/**
 * Finds identifiers that a reader has to decode: vague words (`one`, `found`) in scopes longer than
 * a few lines, and names of terms that this project replaced. Used by test/fast/tidy.test.js.
 * Run: node scripts/identifiers.js [ROOT]
 */

import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { SyntaxKind } from 'typescript/unstable/ast';
import { API } from 'typescript/unstable/sync';

/** @typedef {import('typescript/unstable/ast').Node} Node */

const VAGUE = new Set(['one', 'own', 'found', 'whole', 'taken', 'given']);
/** Lines of a scope in which a vague name is still clear. */
const SCOPE_LINES_MAX = 12;
/** Words of names, each replaced by a standard term: hint, missing, diagnostics, distribution, … */
const REPLACED = [
  ...['told', 'said', 'tell', 'lack', 'remedy', 'remedies', 'foreign', 'rivals?', 'doubts?'],
  ...['tally', 'tallies', 'conduct', 'facts?', 'laws?', 'floors?', 'judge[sd]?', 'yardsticks?'],
  ...['lanes?', 'breathe', 'guarded', 'coded', 'outlived', 'strike', 'sink', 'outbox', 'standins?'],
  ...['standIn', 'giveUp', 'heldReplies'],
];
/** The words at the beginning of a name, and within it. */
const REPLACED_NAME = new RegExp(
  `(?<![A-Za-z])(?:${REPLACED.join('|')})(?![a-z])|` +
    `(?:${REPLACED.map((word) => word[0].toUpperCase() + word.slice(1)).join('|')})(?![a-z])|` +
    `(?<![A-Z])(?:${REPLACED.join('|').toUpperCase()})(?![A-Z])`,
);
/** Texts without such a name outside their comments are not parsed. */
const SUSPECT = new RegExp(`\\b(?:${[...VAGUE].join('|')})\\b|${REPLACED_NAME.source}`);
const COMMENTS = /\/\*\*[\s\S]*?\*\/|^[ \t]*\/\/.*$/gm;

const SCOPES = new Set([
  SyntaxKind.Block,
  SyntaxKind.SourceFile,
  SyntaxKind.ModuleBlock,
  SyntaxKind.CaseBlock,
  SyntaxKind.CatchClause,
  SyntaxKind.ForStatement,
  SyntaxKind.ForOfStatement,
  SyntaxKind.ForInStatement,
  SyntaxKind.ClassStaticBlockDeclaration,
]);
const FUNCTIONS = new Set([
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.ArrowFunction,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.Constructor,
  SyntaxKind.GetAccessor,
  SyntaxKind.SetAccessor,
  SyntaxKind.MethodSignature,
  SyntaxKind.CallSignature,
  SyntaxKind.ConstructSignature,
  SyntaxKind.FunctionType,
]);
const VARIABLES = new Set([
  SyntaxKind.VariableDeclaration,
  SyntaxKind.BindingElement,
  SyntaxKind.Parameter,
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.ClassDeclaration,
  SyntaxKind.ImportSpecifier,
  SyntaxKind.ImportClause,
  SyntaxKind.NamespaceImport,
]);
const MEMBERS = new Set([
  SyntaxKind.PropertyDeclaration,
  SyntaxKind.PropertySignature,
  SyntaxKind.PropertyAssignment,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.MethodSignature,
]);

/**
 * @param {Node} node a declaration
 * @returns {Node} function or block in which its name is known
 */
function scopeOf(node) {
  let scope = node.parent;
  while (!SCOPES.has(scope.kind) && !FUNCTIONS.has(scope.kind)) scope = scope.parent;
  return scope;
}

/**
 * @param {readonly string[]} files absolute paths
 * @returns {{ file: string, line: number, name: string, lines: number }[]} `lines`: of its scope;
 *   0 for a replaced term
 */
export function oddIdentifiers(files) {
  const suspects = files.filter((file) =>
    SUSPECT.test(readFileSync(file, 'utf8').replace(COMMENTS, '')),
  );
  const folder = mkdtempSync(path.join(tmpdir(), 'dragstrip-identifiers-'));
  const api = new API({ cwd: folder });
  try {
    // Parses these files alone: no imports and no types.
    const compilerOptions = {
      allowJs: true,
      noEmit: true,
      noResolve: true,
      noLib: true,
      types: [],
    };
    const config = path.join(folder, 'tsconfig.json');
    writeFileSync(config, JSON.stringify({ compilerOptions, files: suspects }));
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config);
    if (project === undefined) throw new Error(`no project of ${config}`);
    return suspects.flatMap((file) => {
      const source = project.program.getSourceFile(file);
      if (source === undefined) throw new Error(`not parsed: ${file}`);
      return oddIn(source, file);
    });
  } finally {
    api.close();
    rmSync(folder, { recursive: true });
  }
}

/**
 * @param {import('typescript/unstable/ast').SourceFile} source
 * @param {string} file
 */
function oddIn(source, file) {
  const starts = [0, ...[...source.text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  /** @param {number} position @returns {number} its line, from 1 */
  const lineAt = (position) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= position) low = middle;
      else high = middle;
    }
    return low + 1;
  };
  /** @type {{ file: string, line: number, name: string, lines: number }[]} */
  const hits = [];
  /** @param {Node} node */
  const visit = (node) => {
    const { name: id } = /** @type {{ name?: Node }} */ (node);
    const isVariable = VARIABLES.has(node.kind);
    if (id?.kind === SyntaxKind.Identifier && (isVariable || MEMBERS.has(node.kind))) {
      const name = id.getText(source);
      const line = lineAt(id.getStart(source));
      if (REPLACED_NAME.test(name)) hits.push({ file, line, name, lines: 0 });
      if (isVariable && VAGUE.has(name)) {
        const scope = scopeOf(node);
        const lines = lineAt(scope.end) - lineAt(scope.getStart(source)) + 1;
        if (lines > SCOPE_LINES_MAX) hits.push({ file, line, name, lines });
      }
    }
    node.forEachChild(visit);
  };
  visit(source);
  return hits;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const root = path.resolve(process.argv[2] ?? '.');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.[jt]s$/.test(name) && !/(^|\/)(node_modules|types|\.[^/]+)\//.test(name))
    .map((name) => path.join(root, name));
  for (const { file, line, name, lines } of oddIdentifiers(files)) {
    const reason = lines === 0 ? 'a replaced term' : `a scope of ${lines} lines`;
    process.stdout.write(`${path.relative(root, file)}:${line}: ${name} (${reason})\n`);
  }
}
