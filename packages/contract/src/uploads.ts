import { endpoint } from './define.js';

/**
 * Resumable uploads by tus 1.0.0, with creation, creation-with-upload, termination, expiration and checksum. All parameters are in
 * headers, `onConflict` and `ifMatch` in `Upload-Metadata`; bodies are chunks of the file. `Stowage-Entry-Path`, the
 * percent-encoded path in the area, means that the file is published.
 */
export const createUpload = endpoint({ method: 'POST', path: '/api/uploads' });

/** HEAD. It may publish a complete file. */
export const inspectUpload = endpoint({ method: 'GET', path: '/api/uploads/{id}', changesState: true });

export const writeUpload = endpoint({ method: 'PATCH', path: '/api/uploads/{id}' });

export const removeUpload = endpoint({ method: 'DELETE', path: '/api/uploads/{id}' });

/** The capabilities of the server. */
export const uploadOptions = endpoint({ method: 'OPTIONS', path: '/api/uploads' });

export const uploadOptionsOfOne = endpoint({ method: 'OPTIONS', path: '/api/uploads/{id}' });
