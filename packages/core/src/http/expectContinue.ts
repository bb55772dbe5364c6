import type { Server as HttpServer } from 'node:http';
import type { Server } from '@hapi/hapi';

/**
 * Invites a body (`100 Continue`) only once nothing speaks against it. hapi would do so before it asks who is calling, and the client would send a body that
 * nobody reads.
 */
export function inviteBodiesLate(server: Server, listener: HttpServer): void {
	listener.removeAllListeners('checkContinue');
	listener.on('checkContinue', (request, response) => listener.emit('request', request, response));
	server.ext('onPreHandler', (request, h) => {
		const takesBody = request.route.settings.app?.endpoint?.payload !== undefined;
		if (takesBody && /100-continue/i.test(request.raw.req.headers.expect ?? '')) request.raw.res.writeContinue();
		return h.continue;
	});
}
