import type { Server as HttpServer } from 'node:http';
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
import { checkHeaders } from './requests/checkHeaders.js';
import { assertSameSite } from './requests/crossSite.js';
import { handleExpectContinue } from './requests/expectContinue.js';
import { type ClientInfo, createClientReader, createPeers, limitAddress, restorePrefix } from './requests/proxy.js';
import { checkRawPath } from './requests/rawPath.js';

declare module '@hapi/hapi' {
	interface Request {
		/** The client, as far as proxies can be trusted. */
		client: ClientInfo;
	}
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
	const server = createHapiServer(config, listener, listens);
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
		checkHeaders(request.raw.req, request.raw.res);
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

/** hapi's own server: it neither parses nor buffers bodies, and answers no ranges. */
function createHapiServer(config: Config, listener: HttpServer, listens: boolean): HapiServer {
	const socketPath = socketPathOf(config);
	return createHapi({
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
