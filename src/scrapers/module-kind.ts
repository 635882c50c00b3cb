/** Which kind of module a file is, and what this Node can do about it. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compileFunction } from 'node:vm';

/** From 22.18 on Node runs TypeScript as it is. */
export function stripsTypes(): boolean {
  const { features } = process as { readonly features: { readonly typescript?: unknown } };
  return typeof features.typescript === 'string';
}

/**
 * `declared-otherwise`: it has the syntax of an ES module, and the package around it says `"type": "commonjs"`, as
 * `npm init` writes it.
 */
export function isEsModule(path: string, source: string): boolean | 'declared-otherwise' {
  if (path.endsWith('.mjs')) return true;
  if (path.endsWith('.cjs')) return false;
  const type = packageType(dirname(path));
  if (type === 'module') return true;
  if (!hasEsSyntax(source)) return false;
  return type === 'commonjs' ? 'declared-otherwise' : true;
}

function hasEsSyntax(source: string): boolean {
  if (!/\b(?:import|export|await)\b/.test(source)) return false;
  try {
    compileFunction(source, ['exports', 'require', 'module', '__filename', '__dirname']);
    return false;
  } catch {
    return true;
  }
}

function packageType(folder: string): unknown {
  try {
    const text = readFileSync(join(folder, 'package.json'), 'utf8');
    return (JSON.parse(text) as { readonly type?: unknown }).type;
  } catch {
    const parent = dirname(folder);
    return parent === folder || folder.endsWith('node_modules') ? undefined : packageType(parent);
  }
}
