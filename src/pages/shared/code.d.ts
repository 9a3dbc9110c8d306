export * from '../../base/request-code.js';
