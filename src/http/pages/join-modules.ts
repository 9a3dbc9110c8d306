import { posix } from 'node:path';

/**
 * Modules as fewer files: a browser asks once for a folder instead of once for each of its modules, and they compress
 * together. Not a bundler: it knows the forms of imports and exports that src/pages has, and refuses any other.
 */
export interface JoinOptions {
  /** `<folder>/<file>.js` → text, of all folders. */
  readonly texts: ReadonlyMap<string, string>;
  /** Modules that stay files of their own. */
  readonly apart: ReadonlySet<string>;
  /** Under which a joined module is served: `shared/api.js` → `shared/all.js`. */
  readonly servedAs: (module: string) => string;
}

const importForm = /^import \{([^}]*)\} from '([^']+)';\n/gm;
const exportForm = /^export (?:async function|function|class|const) (\w+)/gm;

/**
 * One module that runs these, each in a scope of its own, and exports an object of exports for each. Throws TypeError for
 * modules that import each other in a circle, or have another form of import or export.
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

/** What brings a module into sight that is in another file. */
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

/** `console/task-state.js` → `console_task_state`. */
function scopeOf(name: string): string {
  return name.replace(/\.js$/, '').replaceAll(/\W/g, '_');
}

/**
 * Types stand in comments, which no browser reads. How far a line is indented counts nowhere: markup collapses it, and no
 * other string has several lines.
 */
function withoutComments(text: string): string {
  return text
    .replaceAll(/\/\*\*[^]*?\*\/\s*/g, '')
    .replaceAll(/^ *\/\/.*\n/gm, '')
    .replaceAll(/^ +/gm, '');
}
