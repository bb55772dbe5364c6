export * from './accounts.js';
export * from './define.js';
export * from './endpoint.js';
export * from './events.js';
export * from './files.js';
export * from './links.js';
export * as schemas from './schemas.js';
export * from './service.js';
export * from './uploads.js';
