import fc from 'fast-check';

/** Property tests try random cases on a developer's machine, but the same cases on every CI run. */
if (process.env['CI'] !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 20_261_125 });
