export * from '../../base/json-pointer.js';
