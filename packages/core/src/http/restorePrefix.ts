import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Peers } from './proxy.js';

/**
 * A proxy that serves us below a path may take that path off and say so by `X-Forwarded-Prefix`. It is put back before anybody looks, so that there is one way to
 * read a URL.
 */
export function restorePrefix(listener: HttpServer, basePath: string, { addressOf, isTrusted }: Peers): void {
	if (basePath === '') return;
	listener.prependListener('request', (request: IncomingMessage) => {
		if (request.headers['x-forwarded-prefix'] !== basePath || !isTrusted(addressOf(request.socket))) return;
		const url = request.url ?? '/';
		if (!url.startsWith('/')) return;
		// The page itself has no slash at its end.
		request.url = basePath + (/^\/($|\?)/.test(url) ? url.slice(1) : url);
	});
}
