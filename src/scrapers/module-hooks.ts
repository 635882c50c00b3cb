/** Hooks of Node's module loader for the files of scrapers. They run in a thread of their own, and see every import after them. */
import { readFile } from 'node:fs/promises';
import { createRequire, type LoadHook, type ResolveFnOutput, type ResolveHook } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isEsModule, stripsTypes } from './module-kind.ts';

/** Of the compiler, as much as is used. */
interface Compiler {
  readonly ModuleKind: { readonly ESNext: number };
  readonly ScriptTarget: { readonly ES2022: number };
  transpileModule(
    source: string,
    options: object,
  ): { readonly outputText: string; readonly diagnostics?: readonly Diagnostic[] };
  flattenDiagnosticMessageText(message: unknown, newLine: string): string;
}

interface Diagnostic {
  readonly messageText: unknown;
  readonly start?: number;
}

const TYPESCRIPT = /\.m?ts$/;
let packages: Readonly<Record<string, string>> = {};

export function initialize(own: Readonly<Record<string, string>>): void {
  packages = own;
}

/** `trawl` is found without being installed, and `./part.js` in TypeScript may mean `./part.ts`. */
export const resolve: ResolveHook = async (specifier, context, nextResolve) => {
  try {
    return await asItIs(await nextResolve(specifier, context));
  } catch (error) {
    const own = packages[specifier];
    if (own !== undefined) return { url: own, shortCircuit: true };
    const isTyped = TYPESCRIPT.test(context.parentURL ?? '') && /^\.{1,2}\/.*\.m?js$/.test(specifier);
    if (!isTyped) throw error;
    return nextResolve(specifier.replace(/js$/, 'ts'), context);
  }
};

export const load: LoadHook = async (url, context, nextLoad) => {
  const path = ownPath(url);
  if (path === undefined || !/\.(?:js|m?ts)$/.test(path)) return nextLoad(url, context);
  const source = await readFile(path, 'utf8');
  const isTyped = TYPESCRIPT.test(path);
  if (isTyped ? stripsTypes() : isEsModule(path, source) !== 'declared-otherwise')
    return nextLoad(url, context);
  return { format: 'module', source: isTyped ? transpile(source, path) : source, shortCircuit: true };
};

/** What a file is counts more than what its package says. */
async function asItIs(found: ResolveFnOutput): Promise<ResolveFnOutput> {
  const path = ownPath(found.url);
  if (path === undefined || found.format !== 'commonjs' || !path.endsWith('.js')) return found;
  return isEsModule(path, await readFile(path, 'utf8')) ? { ...found, format: 'module' } : found;
}

function ownPath(url: string): string | undefined {
  return url.startsWith('file:') && !url.includes('/node_modules/') ? fileURLToPath(url) : undefined;
}

function transpile(source: string, path: string): string {
  const compiler = findCompiler(path);
  const { outputText, diagnostics } = compiler.transpileModule(source, {
    fileName: path,
    reportDiagnostics: true,
    compilerOptions: {
      module: compiler.ModuleKind.ESNext,
      target: compiler.ScriptTarget.ES2022,
      verbatimModuleSyntax: true,
      inlineSourceMap: true,
    },
  });
  const [first] = diagnostics ?? [];
  if (!first) return outputText;
  const line = source.slice(0, first.start ?? 0).split('\n').length;
  throw new SyntaxError(`line ${line}: ${compiler.flattenDiagnosticMessageText(first.messageText, ' ')}`);
}

/** The one of the scraper's own project, or whichever is near. */
function findCompiler(path: string): Compiler {
  for (const from of [path, import.meta.url]) {
    try {
      return createRequire(from)('typescript') as Compiler;
    } catch {
      continue;
    }
  }
  throw new Error(
    `TypeScript needs Node 22.18 or newer (this is ${process.version}), or its compiler beside the scraper: ` +
      'npm install --save-dev typescript',
  );
}
