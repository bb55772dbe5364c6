import { z } from 'zod';
import type { Endpoint, EndpointDefinition } from './endpoint.js';

const nothing = z.object({});

/**
 * Describes one call. Left out: anyone may call it, no query, no payload, an answer that is not JSON. A payload is a schema for JSON or,
 * where the route streams a form to disk itself, `multipart`.
 */
export function endpoint<
	Query extends z.ZodType = typeof nothing,
	Payload extends z.ZodType | 'multipart' | undefined = undefined,
	Result extends z.ZodType = z.ZodUndefined,
>(definition: EndpointDefinition<Query, Payload, Result>): Endpoint<Query, Payload, Result> {
	return {
		method: definition.method,
		path: definition.path,
		audience: definition.audience ?? 'anyone',
		signInMessage: definition.signInMessage ?? 'Please sign in first.',
		query: definition.query ?? (nothing as unknown as Query),
		payload: definition.payload as Payload,
		result: definition.result ?? (z.undefined() as unknown as Result),
		changesState: definition.changesState ?? !['GET', 'OPTIONS'].includes(definition.method),
		maxPayloadBytes: definition.maxPayloadBytes ?? 64 * 1024,
	};
}
