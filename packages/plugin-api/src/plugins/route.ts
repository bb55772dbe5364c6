import type { ResponseToolkit, ServerRoute } from '@hapi/hapi';
import {
	type AnyEndpoint,
	maxPayloadBytesFor,
	type PayloadOf,
	type QueryOf,
	type ResultInput,
	schemas,
} from '@stowage/contract';
import { Failure, type Viewer } from '@stowage/rules';
import { z } from 'zod';
import { Yielder } from '../limits/Yielder.js';
import type { Request } from './server.js';

schemas.parseListsInSlices(() => new Yielder());

/** One call, parsed and typed by its endpoint. */
export interface Call<E extends AnyEndpoint> {
	viewer: Viewer;
	query: QueryOf<E>;
	payload: PayloadOf<E>;
	/** Decoded parameters of the path. */
	params: Readonly<Record<string, string>>;
	request: Request;
	h: ResponseToolkit;
}

/** A symbol is `h.abandon`: the route has responded by itself. */
type Answer<E extends AnyEndpoint> = E['result'] extends z.ZodUndefined
	? symbol | object
	: ResultInput<E> | ReturnType<ResponseToolkit['response']> | symbol;

declare module '@hapi/hapi' {
	interface RouteOptionsApp {
		/**
		 * The call that this route implements, for checks that read it before the route runs. A function: hapi deep-clones objects, schemas
		 * included.
		 */
		endpoint?: () => AnyEndpoint;
	}
}

/**
 * The hapi route of an endpoint. The server checks the audience before the body, and the query and payload are parsed before `handle`
 * runs. A body is never read by hapi: JSON is read here (an optional payload may be missing), and a form is left in `request.raw.req` for
 * the route to stream.
 */
export function route<E extends AnyEndpoint>(
	endpoint: E,
	handle: (call: Call<E>) => Answer<E> | Promise<Answer<E>>,
): ServerRoute {
	return {
		method: endpoint.method,
		path: endpoint.path,
		options: {
			app: { endpoint: () => endpoint },
			...(endpoint.method === 'GET'
				? {}
				: {
						payload: {
							output: 'stream' as const,
							parse: false,
							maxBytes: Number.MAX_SAFE_INTEGER,
							timeout: false as const,
						},
					}),
		},
		async handler(request, h) {
			const { viewer, params } = request;
			const query = parseInput(endpoint.query, request.query);
			const respond = async (payload: unknown) =>
				(await handle({ viewer, query, payload, params, request, h } as Call<E>)) as object;
			if (!(endpoint.payload instanceof z.ZodType)) return respond(undefined);
			if (!hasBody(request) && endpoint.payload.safeParse(undefined).success) return respond(undefined);
			const { bodies } = request.server;
			try {
				const json = await bodies.readJson(request, maxPayloadBytesFor(endpoint, viewer));
				return await respond(outputOf(await endpoint.payload.safeParseAsync(json)));
			} finally {
				bodies.release(request);
			}
		},
	};
}

function hasBody({ raw }: Request): boolean {
	const { 'content-length': length = '0', 'transfer-encoding': encoding } = raw.req.headers;
	return encoding !== undefined || Number(length) > 0;
}

/** Parses untrusted input. Throws `invalid` (or `invalidPath`) with the field's name in the message. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
	return outputOf(schema.safeParse(input));
}

function outputOf<T>(result: z.ZodSafeParseResult<T>): T {
	if (result.success) return result.data;
	const issue = result.error.issues[0];
	if (issue === undefined) throw new Failure('invalid', 'The request is not valid.');
	const isPath = issue.code === 'custom' && issue.params?.kind === 'invalidPath';
	throw new Failure(isPath ? 'invalidPath' : 'invalid', describeIssue(issue));
}

/** A body may have a hundred thousand fields, and a name of megabytes: an answer repeats a few. */
const maxNamed = 5;
const maxNameLength = 100;

/** One sentence for people: the field, and what is wrong with it. */
export function describeIssue(issue: z.core.$ZodIssue): string {
	const where = issue.path.map(String).join('.');
	if (issue.code === 'unrecognized_keys') {
		const named = issue.keys.slice(0, maxNamed).map((key) => key.slice(0, maxNameLength));
		const names = named.map((key) => (where === '' ? key : `${where}.${key}`)).join(', ');
		return `Unknown field: ${names}${issue.keys.length > maxNamed ? ', ...' : ''}`;
	}
	return where === '' ? issue.message : `${where}: ${issue.message}`;
}
