import type { Server as HttpServer, IncomingMessage } from 'node:http';
import type { Server } from '@hapi/hapi';
import { maxPayloadBytesFor } from '@stowage/contract';
import type { Request } from '@stowage/plugin-api';
import { addStep } from './addStep.js';

/**
 * Sends `100 Continue` only once the request is not going to be refused. hapi would do so before authentication, and the client would
 * send a body that is not read.
 */
export function handleExpectContinue(server: Server, listener: HttpServer): void {
	listener.removeAllListeners('checkContinue');
	listener.on('checkContinue', (request, response) => listener.emit('request', request, response));
	addStep(server, 'onPreHandler', (request) => {
		if (awaitsContinue(request.raw.req) && shouldContinue(request)) request.raw.res.writeContinue();
	});
}

/** `Expect: 100-continue` waits for this: the request is not going to be refused. */
export function sendContinue({ raw: { req, res } }: Request): void {
	if (awaitsContinue(req)) res.writeContinue();
}

/** A client of HTTP/1.0 would take `100 Continue` for the answer (RFC 9110, section 10.1.1). */
function awaitsContinue({ httpVersion, headers }: IncomingMessage): boolean {
	return httpVersion !== '1.0' && /100-continue/i.test(headers.expect ?? '');
}

/** Whether the route will read a body of this type and length. */
function shouldContinue({ route, viewer, raw }: Request): boolean {
	const endpoint = route.settings.app?.endpoint?.();
	const { headers } = raw.req;
	const type = headers['content-type'] ?? '';
	if (endpoint?.payload === undefined) return false;
	if (endpoint.payload === 'multipart') return /^multipart\/form-data[ \t]*;/i.test(type);
	return (
		/^application\/json[ \t]*(;|$)/i.test(type) &&
		Number(headers['content-length'] ?? 0) <= maxPayloadBytesFor(endpoint, viewer)
	);
}
