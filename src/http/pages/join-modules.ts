import { posix } from 'node:path';

export interface JoinOptions {
  readonly texts: ReadonlyMap<string, string>;
  readonly apart: ReadonlySet<string>;
  /** A joined module is served in another file. `shared/api.js` becomes `shared/all.js`. */
  readonly servedAs: (module: string) => string;
}

const importForm = /^import \{([^}]*)\} from '([^']+)';\n/gm;
const exportForm = /^export (?:async function|function|class|const) (\w+)/gm;

/**
 * Returns a module that runs these modules, each in its own scope, and exports one object per module with its exports.
 * A browser then sends one request per directory instead of one per module, and compression works better. This is not a
 * bundler. It throws TypeError for circular imports, and for forms of import or export that do not occur in src/pages.
 */
export function joinModules(names: readonly string[], options: JoinOptions): string {
  const heads = new Set<string>();
  const bodies: string[] = [];
  const state = new Map<string, 'open' | 'done'>();

  function add(name: string): void {
    if (state.get(name) === 'done') return;
    if (state.get(name) === 'open') throw new TypeError(`${name} imports itself, through others`);
    state.set(name, 'open');
    const body = withoutComments(options.texts.get(name) ?? '').replaceAll(
      importForm,
      (_, bindings: string, path: string) => {
        const module = posix.join(posix.dirname(name), path);
        if (names.includes(module)) add(module);
        else heads.add(headOf(module, name, options));
        return `const {${bindings.replaceAll(' as ', ': ')}} = ${scopeOf(module)};\n`;
      },
    );
    bodies.push(inScope(name, body));
    state.set(name, 'done');
  }

  for (const name of names) add(name);
  return [...heads, ...bodies].join('');
}

function headOf(module: string, from: string, { apart, servedAs }: JoinOptions): string {
  const path = posix.relative(posix.dirname(from), servedAs(module));
  const relative = path.startsWith('.') ? path : `./${path}`;
  return apart.has(module)
    ? `import * as ${scopeOf(module)} from '${relative}';\n`
    : `import { ${scopeOf(module)} } from '${relative}';\n`;
}

function inScope(name: string, body: string): string {
  const exported = [...body.matchAll(exportForm)].map(([, binding = '']) => binding);
  const plain = body
    .replaceAll(/^export (?=async function|function|class|const)/gm, '')
    .replace(/^export \{\};\n/m, '');
  const other = /^(?:import\b.*['"]|export\b).*$/m.exec(plain);
  if (other !== null) throw new TypeError(`${name}: ${other[0]}`);
  return `export const ${scopeOf(name)} = (() => {\n${plain}return { ${exported.join(', ')} };\n})();\n`;
}

function scopeOf(name: string): string {
  return name.replace(/\.js$/, '').replaceAll(/\W/g, '_');
}

/** Also removes indentation. Only strings with markup span several lines, and markup collapses whitespace anyway. */
function withoutComments(text: string): string {
  return text
    .replaceAll(/\/\*\*[^]*?\*\/\s*/g, '')
    .replaceAll(/^ *\/\/.*\n/gm, '')
    .replaceAll(/^ +/gm, '');
}
