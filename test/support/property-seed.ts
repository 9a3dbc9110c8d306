import fc from 'fast-check';

/**
 * Runs in every test file. Property tests explore where developers run them, and report the seed of what fails; a gate
 * that everybody waits for tries the same cases each time.
 */
if (process.env['CI'] !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_125 });
