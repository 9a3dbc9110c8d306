import fc from 'fast-check';

/** Property tests try random cases on a developer's machine and always the same cases in CI. */
if (process.env['CI'] !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_125 });
