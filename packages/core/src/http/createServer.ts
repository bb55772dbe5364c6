import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Boom } from '@hapi/boom';
import {
	server as createHapi,
	type Request as HapiRequest,
	type Server as HapiServer,
	type ResponseObject,
	type ResponseToolkit,
} from '@hapi/hapi';
import { Failure } from '@stowage/rules';
import { createHostCheck } from '../config/allowedHosts.js';
import type { Config } from '../config/schema.js';
import { shareOf } from '../config/workers.js';
import { setRequestCaller } from '../context.js';
import type { Log } from '../log.js';
import type { Drain } from './connections/Drain.js';
import { endWhenStalled } from './connections/endWhenStalled.js';
import { createHeldAnswers } from './connections/heldAnswers.js';
import { limitConnections } from './connections/limitConnections.js';
import { createListener, maxConnections } from './connections/listener.js';
import { createLoadCheck } from './connections/loadCheck.js';
import { serializeRequests } from './connections/serializeRequests.js';
import { socketPathOf } from './connections/unixSocket.js';
import { hasUnreadBody, leaveBodyUnread } from './connections/unreadBody.js';
import { answerError } from './errors.js';
import { createFailureLog } from './failureLog.js';
import { addStep } from './requests/addStep.js';
import { collapseBlanks } from './requests/collapseBlanks.js';
import { assertSameSite } from './requests/crossSite.js';
import { handleExpectContinue } from './requests/expectContinue.js';
import { type ClientInfo, createClientReader, createPeers, limitAddress, restorePrefix } from './requests/proxy.js';
import { checkRawPath } from './requests/rawPath.js';
import { trimBlanks } from './requests/trimBlanks.js';

declare module '@hapi/hapi' {
	interface Request {
		/** The client, as far as proxies can be trusted. */
		client: ClientInfo;
	}
}

/**
 * Throws `invalid` for a request that names no host, or several: two readers could take it for different ones. HTTP/1.0 knows no hosts.
 */
function assertHost(request: IncomingMessage, response: ServerResponse): void {
	const hosts = request.headersDistinct.host?.length ?? 0;
	if (hosts === 1 || (hosts === 0 && request.httpVersion === '1.0')) return;
	response.setHeader('connection', 'close');
	throw new Failure('invalid', 'The request must have one Host header.');
}

/** hapi would wait for a body that it finds too long. */
function assertLength({ headers }: IncomingMessage): void {
	if (Number(headers['content-length'] ?? 0) > Number.MAX_SAFE_INTEGER)
		throw new Failure('tooLarge', 'The request is longer than any file can be.');
}

/**
 * Throws for a body in another coding than that of its file: nothing undoes it, and what arrives would be kept as the
 * file's content. Node passes on any coding that is named before `chunked`.
 */
function assertPlainBody({ headers }: IncomingMessage): void {
	const coding = trimBlanks(headers['content-encoding'] ?? '').toLowerCase() || 'identity';
	if (coding !== 'identity') throw new Failure('unsupportedMediaType', 'Send the request without a Content-Encoding.');
	const transfer = trimBlanks(headers['transfer-encoding'] ?? 'chunked').toLowerCase();
	if (transfer !== 'chunked')
		throw new Failure('invalid', 'The only Transfer-Encoding that a request may have is chunked.');
}

/** The hapi server with the rules of every route: refusals before the body, one shape of errors, safe headers. */
export function createServer(
	config: Config,
	log: Log,
	maxEventLoopDelayMs: number,
	drain: Drain,
	listens: boolean,
): HapiServer {
	const listener = createListener();
	const socketPath = socketPathOf(config);
	const server = createHapi({
		listener,
		...(listens
			? socketPath === undefined
				? { host: config.host, port: config.port }
				: { port: socketPath }
			: { autoListen: false }),
		compression: { minBytes: 1024 },
		// A user's text file must keep its length and ranges, so only the server's own answers are compressed.
		mime: { override: { 'text/plain': { compressible: false } } },
		router: { stripTrailingSlash: false },
		routes: {
			cors: false,
			cache: { otherwise: 'private, no-store' },
			// Another program on this host may have left a cookie that hapi can't parse; that is no reason to lock anyone out.
			state: { parse: true, failAction: 'ignore' },
			// Ranges, several of them too, are answered by the downloads themselves.
			response: { ranges: false, emptyStatusCode: 204 },
			payload: {
				output: 'stream',
				parse: false,
				maxBytes: Number.MAX_SAFE_INTEGER,
				timeout: false,
				// The route that reads a body checks its type. hapi would wait for all of a body whose type it can't parse, however long that
				// takes.
				override: 'application/octet-stream',
			},
			timeout: { server: false, socket: false },
		},
	});
	handleExpectContinue(server, listener);
	const assertNotOverloaded = createLoadCheck(server, maxEventLoopDelayMs);
	const peers = createPeers(config);
	const maxPerAddress = () => shareOf(config.maxConnectionsPerAddress, config);
	const total = () => shareOf(maxConnections, config);
	limitConnections(listener, { perAddress: maxPerAddress, total }, peers, (socket) => drain.isIdle(socket));
	const readClient = createClientReader(peers, config.publicUrl);
	restorePrefix(listener, config.basePath, peers);
	serializeRequests(listener, (request) => limitAddress(readClient(request).address), maxPerAddress, drain);
	const checkHost = createHostCheck(config);
	const errorParts = { log, logFailure: createFailureLog(log), basePath: config.basePath };
	const hold = createHeldAnswers();
	server.decorate('request', 'client', { address: '', isHttps: false, host: '' });

	addStep(server, 'onRequest', (request) => {
		assertNotOverloaded();
		request.client = readClient(request.raw.req);
		setRequestCaller(request);
		assertHost(request.raw.req, request.raw.res);
		assertLength(request.raw.req);
		assertPlainBody(request.raw.req);
		collapseBlanks(request.raw.req.headers);
		checkHost(request.client.host);
		checkRawPath(request.raw.req.url ?? '/');
	});
	server.ext('onPreAuth', (request, h) => {
		assertSameSite(request, request.client, config.publicUrl);
		return h.continue;
	});
	const answered = (response: ResponseObject | Boom, request: HapiRequest, h: ResponseToolkit) => {
		try {
			return response instanceof Error ? answerError(response, request, h, errorParts) : hold(request, response, h);
		} catch (error) {
			return answerError(error as Failure, request, h, errorParts);
		}
	};
	server.ext('onPreResponse', (request, h) => {
		if (typeof request.response === 'symbol') return h.continue;
		endWhenStalled(request.raw.res);
		const response = answered(request.response, request, h);
		response.header('x-content-type-options', 'nosniff');
		// Caching headers of the route don't apply to a refusal.
		if (response.statusCode >= 400 && response.headers['cache-control'] === undefined)
			response.header('cache-control', 'private, no-store');
		if (hasUnreadBody(request.raw.req)) leaveBodyUnread(request.raw.req, request.raw.res);
		return response;
	});
	// hapi's own answer to an unknown route reads the body first.
	server.route({
		method: '*',
		path: '/{any*}',
		options: { auth: false },
		handler: (request) => {
			throw noRoute(request);
		},
	});
	server.events.on({ name: 'request', channels: 'error' }, (_request, event) =>
		log.error({ err: event.error }, 'request failed'),
	);
	return server;
}

const methods = ['get', 'post', 'put', 'patch', 'delete', 'options'] as const;

/** The response where no route matches: 405 with `Allow` if the path has other methods, else 404. */
function noRoute({ server, path }: HapiRequest): Failure {
	const allowed = methods.filter((method) => {
		const found = server.match(method, path);
		return found !== null && found.method !== '*';
	});
	if (allowed.length === 0) return new Failure('notFound', 'There is nothing here.');
	// A HEAD is answered wherever a GET is.
	const names = allowed.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
	return new Failure('methodNotAllowed', 'This method is not allowed here.', { headers: { allow: names.join(', ') } });
}
