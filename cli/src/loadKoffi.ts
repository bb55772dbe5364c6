import { createRequire } from 'node:module';

/**
 * koffi, which calls functions of the C library, loaded once it is needed: most commands never need it. Throws where it has no build for
 * this machine.
 */
export function loadKoffi(): typeof import('koffi').default {
	return createRequire(import.meta.url)('koffi');
}
