import type { Mutant } from './mutant.ts';

const tests = ['test/http/dialects.test.ts'];
const folder = 'src/http/dialects';

/** What clients of other services rely on. */
export const dialectMutants: readonly Mutant[] = [
  {
    name: 'dialect-own-tasks',
    breaks: 'A list by ids shows nobody else’s tasks.',
    file: `${folder}/ark/list-ark-tasks.ts`,
    find: 'isWithin(reach, task) && ',
    replace: '',
    tests,
  },
  {
    name: 'dialect-expired',
    breaks: 'What expired is not merely failed where the dialect has a word for it.',
    file: `${folder}/ark/ark-task.ts`,
    find: "return 'expired';",
    replace: "return 'failed';",
    tests,
  },
  {
    name: 'dialect-their-words',
    breaks: 'An error names the field that the caller has sent.',
    file: 'src/intake/their-words.ts',
    find: 'renamed(error, nameOf)',
    replace: 'error',
    tests,
  },
  {
    name: 'dialect-address',
    breaks: 'A misspelt address of ours is not the id of a video.',
    file: 'src/http/app.ts',
    find: 'only.get(path)?.test(context.path) === false',
    replace: 'only.get(path) === null',
    tests,
  },
];
