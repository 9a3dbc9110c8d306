import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { API, type Checker, type Type } from 'typescript/unstable/sync';
import { z } from 'zod';

export type Literals = readonly string[] | { readonly unreadable: string };

/** The types may import packages from `folder`. The compiler resolves aliases, indexed access and `keyof typeof`. */
export function typeLiterals(folder: string, types: readonly string[]): Literals[] {
  const probe = join(folder, 'probe.ts');
  const settings = join(folder, 'tsconfig.json');
  writeFileSync(probe, types.map((type, at) => `export type T${at} = ${type};\n`).join(''));
  writeFileSync(settings, JSON.stringify({ compilerOptions, files: ['probe.ts'] }));
  const api = new API();
  try {
    const project = api.updateSnapshot({ openProjects: [settings] }).getProject(settings);
    const source = project?.program.getSourceFile(probe);
    if (project === undefined || source === undefined)
      return types.map(() => ({ unreadable: 'the compiler did not load it' }));
    const { checker } = project;
    return source.statements.map((statement) => literalsOf(checker.getTypeAtLocation(statement), checker));
  } finally {
    api.close();
  }
}

const compilerOptions = {
  module: 'nodenext',
  target: 'es2024',
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  types: [],
};

/**
 * Ignores `undefined`, `null`, and `string & {}`, which allows any text. If there is any other type, the list cannot be
 * read.
 */
function literalsOf(type: Type | undefined, checker: Checker): Literals {
  if (type === undefined) return { unreadable: 'it has no type' };
  const parts = type.isUnionType() ? type.getTypes() : [type];
  const read: string[] = [];
  for (const part of parts) {
    if (part.isStringLiteralType() || part.isNumberLiteralType()) read.push(String(part.value));
    else if (!isOpen(checker.typeToString(part)))
      return { unreadable: `it is ${checker.typeToString(type)}` };
  }
  return read.length === 0 ? { unreadable: `it is ${checker.typeToString(type)}` } : read;
}

function isOpen(text: string): boolean {
  return ['undefined', 'null', 'string & {}'].includes(text);
}

const reader = fileURLToPath(new URL('literals.py', import.meta.url));
const saidByReader = z.array(z.union([z.array(z.string()), z.strictObject({ unreadable: z.string() })]));

/** Each type has the form `module:Name` or `module:Class.field`. */
export function pythonLiterals(python: string, types: readonly string[]): Literals[] {
  const said = execFileSync(python, [reader], { input: JSON.stringify(types), encoding: 'utf8' });
  return saidByReader.parse(JSON.parse(said));
}
