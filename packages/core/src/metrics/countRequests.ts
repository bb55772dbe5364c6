import type { Socket } from 'node:net';
import type { Request, Server } from '@hapi/hapi';
import { addStep } from '../http/requests/addStep.js';
import type { Exposition } from './exposition.js';

/** Seconds: from unnoticeable responses to large uploads. */
const bounds = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 600];

/** The calls whose bodies, or responses, are files. */
const transfers: Readonly<Record<string, 'upload' | 'download'>> = {
	'post /api/upload': 'upload',
	'post /api/upload/public': 'upload',
	'post /api/uploads': 'upload',
	'patch /api/uploads/{id}': 'upload',
	'post /api/share/{token}/uploads': 'upload',
	'patch /api/share/{token}/uploads/{id}': 'upload',
	'get /api/download/{path*}': 'download',
	'post /api/downloadZip': 'download',
	'get /api/temp/{token}': 'download',
	'get /api/share/{token}/download/{path*}': 'download',
	'get /api/downloadTickets/{ticket}': 'download',
};

interface CountedRoute {
	name: string;
	transfer: 'upload' | 'download' | undefined;
	duration: { observe(seconds: number): void };
	statuses: Map<number, { add(): void }>;
}

/** Client closed request, as proxies log it. */
const clientLeft = 499;

export type Transfers = Readonly<Record<'upload' | 'download', number>>;

/** Counts responses, by the route and never by the path. Resolves to the transfers under way, and to the bytes of all connections. */
export function countRequests(server: Server, basePath: string, exposition: Exposition) {
	const requests = exposition.counter(
		'stowage_requests_total',
		'Requests by route and status; 499 is a client that left.',
	);
	const durations = exposition.histogram(
		'stowage_request_duration_seconds',
		'From the request line to the end.',
		bounds,
	);
	const refusals = exposition.counter(
		'stowage_refusals_total',
		'Requests that were refused, by the code of the answer.',
	);
	const underWay = { upload: 0, download: 0 };
	const begun = new WeakSet<Request>();
	const routes = new WeakMap<object, Map<string, CountedRoute>>();

	const counted = ({ method, route }: Request): CountedRoute => {
		const methods = routes.get(route) ?? new Map<string, CountedRoute>();
		routes.set(route, methods);
		const known = methods.get(method);
		if (known !== undefined) return known;
		// All unknown routes are one label: a visitor may request anything.
		const isOurs = route.path !== '/{any*}';
		const name = isOurs ? `${method} ${route.path.slice(basePath.length) || '/'}` : 'none';
		const made = { name, transfer: transfers[name], duration: durations.of({ route: name }), statuses: new Map() };
		methods.set(method, made);
		return made;
	};

	const countOf = ({ name, statuses }: CountedRoute, status: number) => {
		const found = statuses.get(status) ?? requests.of({ route: name, status: String(status) });
		statuses.set(status, found);
		return found;
	};

	addStep(server, 'onPreHandler', (request) => {
		const { transfer } = counted(request);
		if (transfer === undefined) return;
		begun.add(request);
		underWay[transfer]++;
	});
	server.events.on('response', (request: Request) => {
		const route = counted(request);
		if (route.transfer !== undefined && begun.has(request)) underWay[route.transfer]--;
		const { headersSent, statusCode } = request.raw.res;
		countOf(route, headersSent ? statusCode : clientLeft).add();
		route.duration.observe((Date.now() - request.info.received) / 1000);
		const code = headersSent && statusCode >= 400 ? codeOf(request.response) : undefined;
		if (code !== undefined) refusals.of({ code }).add();
	});

	return { underWay: underWay as Transfers, bytes: countBytes(server) };
}

function codeOf(response: Request['response']): string | undefined {
	// A symbol if the route has responded by itself.
	if (typeof response !== 'object' || response === null || !('source' in response)) return undefined;
	const { code } = (response.source ?? {}) as { code?: unknown };
	return typeof code === 'string' ? code : undefined;
}

/** Bytes of all connections, headers and all. A connection counts its own, so nothing is done for a request. */
function countBytes(server: Server): () => { received: number; sent: number; connections: number } {
	const open = new Set<Socket>();
	let received = 0;
	let sent = 0;
	server.listener.on('connection', (socket: Socket) => {
		open.add(socket);
		socket.once('close', () => {
			open.delete(socket);
			received += socket.bytesRead;
			sent += socket.bytesWritten;
		});
	});
	return () => {
		const sum = { received, sent, connections: open.size };
		for (const { bytesRead, bytesWritten } of open) {
			sum.received += bytesRead;
			sum.sent += bytesWritten;
		}
		return sum;
	};
}
