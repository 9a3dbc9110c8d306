import fc from 'fast-check';

/**
 * Runs in every test file. On a developer's machine, property tests try random cases and report a failure's seed. In
 * CI, where everyone waits for the result, they always try the same cases.
 */
if (process.env['CI'] !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_125 });
