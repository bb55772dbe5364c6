import { type AnyEndpoint, type PayloadInput, type QueryInput, type ResultOf, schemas } from '@stowage/contract';
import { encodePath, Failure, type FailureKind, failureKind, failures } from '@stowage/rules';
import type { z } from 'zod';
import { messages } from '../../messages.js';
import { basePath } from './basePath.js';
import { learnServerTime } from './serverClock.js';

/** No response came: there is no network, or the server is down. A retry may succeed. */
export class NetworkFailure extends Failure {
	constructor(cause?: unknown, message: string = messages.networkError) {
		super('unavailable', message, { cause });
	}
}

export interface CallOptions<E extends AnyEndpoint> {
	query?: QueryInput<E>;
	payload?: PayloadInput<E>;
	/** Fills `{name}` and `{name*}` of the endpoint's path. */
	params?: Record<string, string>;
	signal?: AbortSignal;
	/** Beyond those that every call has. */
	headers?: Record<string, string>;
}

/**
 * Makes one call of the contract and returns its parsed result. Throws a `Failure` of the kind that the server's code
 * means, `NetworkFailure` when there was no response, and an `AbortError` when the signal was aborted.
 */
export async function call<E extends AnyEndpoint>(endpoint: E, options: CallOptions<E> = {}): Promise<ResultOf<E>> {
	return endpoint.changesState ? asMutation(() => send(endpoint, options)) : send(endpoint, options);
}

/** Counts as a call that changes something, for one that is made with `fetchResponse`. */
export async function asMutation<T>(work: () => Promise<T>): Promise<T> {
	mutations++;
	try {
		return await work();
	} finally {
		mutations--;
	}
}

let mutations = 0;

/** Whether a call that changes something on the server is in flight. */
export function isMutating(): boolean {
	return mutations > 0;
}

async function send<E extends AnyEndpoint>(endpoint: E, options: CallOptions<E>): Promise<ResultOf<E>> {
	return readResult(endpoint, await fetchResponse(endpoint, options), options.signal);
}

/**
 * The parsed result of a response that `fetchResponse` got. Throws `UnreadableAnswer` for an answer of somebody else's, such as the page
 * on which a network asks for a sign-in.
 */
export async function readResult<T extends z.ZodType>(
	{ result }: { result: T },
	response: Response,
	signal: AbortSignal | undefined,
): Promise<z.output<T>> {
	const body = await readBody(response, signal);
	const parsed = result.safeParse(body === '' ? undefined : (parseJson(body) ?? null));
	if (!parsed.success) throw new UnreadableAnswer('unavailable', messages.unreadableAnswer);
	return parsed.data;
}

/** The response to a call, its body not read yet. Throws as `call` does. */
export async function fetchResponse<E extends AnyEndpoint>(endpoint: E, options: CallOptions<E>): Promise<Response> {
	const { payload, signal, headers } = options;
	const sentAt = Date.now();
	let response: Response;
	try {
		response = await fetch(endpointUrl(endpoint, options), {
			method: endpoint.method,
			credentials: 'same-origin',
			headers: {
				accept: 'application/json',
				...(payload === undefined ? {} : { 'content-type': 'application/json' }),
				...headers,
			},
			...(payload === undefined ? {} : { body: JSON.stringify(payload) }),
			...(signal ? { signal } : {}),
		});
	} catch (cause) {
		if (signal?.aborted) throw cause;
		throw new NetworkFailure(cause);
	}
	learnServerTime(response, sentAt);
	if (response.ok) return response;
	throw failureFrom(response.status, parseJson(await readBody(response, signal)), response.headers.get('retry-after'));
}

/** The URL of a call, below the base path, for links and media elements. */
export function endpointUrl<E extends AnyEndpoint>(
	endpoint: E,
	{ query, params = {} }: Pick<CallOptions<E>, 'query' | 'params'> = {},
): string {
	const path = endpoint.path.replaceAll(/\{(\w+)\*?\}/g, (_, name: string) => encodePath(params[name] ?? ''));
	const search = new URLSearchParams();
	for (const [key, value] of Object.entries(query ?? {})) {
		for (const each of [value].flat()) if (each !== undefined) search.append(key, each === null ? '' : String(each));
	}
	return `${basePath}${path}${search.size > 0 ? `?${search}` : ''}`;
}

/** A successful response that is none of the server's. */
export class UnreadableAnswer extends Failure {}

/** An error response without a message of the server, such as a proxy's. */
export class UnexplainedFailure extends Failure {}

/** The `Failure` for an error response, also for one that a proxy made. */
export function failureFrom(status: number, body: unknown, retryAfter: string | null): Failure {
	const parsed = schemas.errorAnswer.safeParse(body);
	const seconds = Number(retryAfter);
	const options = retryAfter !== null && Number.isFinite(seconds) ? { retryAfter: seconds } : {};
	const kind = parsed.success ? (failureKind(parsed.data.code) ?? kindOfStatus(status)) : foreignKind(status);
	return parsed.success && parsed.data.message !== ''
		? new Failure(kind, parsed.data.message, options)
		: new UnexplainedFailure(kind, messages.httpError(status), options);
}

/** A proxy whose server is away may say that there is nothing; it has not looked for the thing. */
function foreignKind(status: number): FailureKind {
	return [404, 409, 410, 412].includes(status) ? 'unavailable' : kindOfStatus(status);
}

export function kindOfStatus(status: number): FailureKind {
	for (const kind of Object.keys(failures) as FailureKind[]) {
		if (failures[kind].status === status) return kind;
	}
	return status >= 500 ? 'unavailable' : 'invalid';
}

async function readBody(response: Response, signal: AbortSignal | undefined): Promise<string> {
	try {
		return await response.text();
	} catch (cause) {
		if (signal?.aborted) throw cause;
		throw new NetworkFailure(cause);
	}
}

/** The value of a JSON text; undefined for what is none, such as a proxy's error page. */
function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
