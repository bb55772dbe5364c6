export * from './accounts.js';
export * from './define.js';
export * from './endpoint.js';
export * from './files.js';
export * as schemas from './schemas.js';
export * from './service.js';
