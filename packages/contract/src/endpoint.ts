import type { Viewer } from '@stowage/rules';
import type { z } from 'zod';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/**
 * Who may call. `anyone`: visitors too. `user`: a signed-in person; everyone else gets 401.
 */
export type Audience = 'anyone' | 'user';

/** One call of the HTTP API. `path` is hapi's form and is relative to the base path of the server. */
export interface Endpoint<
	Query extends z.ZodType = z.ZodType,
	Payload extends z.ZodType | 'multipart' | undefined = z.ZodType | 'multipart' | undefined,
	Result extends z.ZodType = z.ZodType,
> {
	readonly method: Method;
	readonly path: string;
	readonly audience: Audience;
	/** The message for visitors instead of the usual one. */
	readonly signInMessage: string;
	/** Unknown keys of a query are ignored. */
	readonly query: Query;
	/** Unknown keys of a payload are refused by name. */
	readonly payload: Payload;
	readonly result: Result;
	/** Changes state although it is a GET, so the cross-site rule applies to it as well. */
	readonly changesState: boolean;
	/** Longest JSON payload in bytes of a signed-in person; a visitor's has at most 256 kB. */
	readonly maxPayloadBytes: number;
}

// biome-ignore lint/suspicious/noExplicitAny: any endpoint, whatever its schemas; inference needs the open form.
export type AnyEndpoint = Endpoint<any, any, any>;

export type QueryOf<E extends AnyEndpoint> = z.output<E['query']>;
export type QueryInput<E extends AnyEndpoint> = z.input<E['query']>;
export type PayloadOf<E extends AnyEndpoint> = E['payload'] extends z.ZodType ? z.output<E['payload']> : undefined;
export type PayloadInput<E extends AnyEndpoint> = E['payload'] extends z.ZodType ? z.input<E['payload']> : undefined;
export type ResultOf<E extends AnyEndpoint> = z.output<E['result']>;
export type ResultInput<E extends AnyEndpoint> = z.input<E['result']>;

export interface EndpointDefinition<
	Query extends z.ZodType,
	Payload extends z.ZodType | 'multipart' | undefined,
	Result extends z.ZodType,
> {
	method: Method;
	path: string;
	audience?: Audience;
	signInMessage?: string;
	query?: Query;
	payload?: Payload;
	result?: Result;
	changesState?: boolean;
	maxPayloadBytes?: number;
}

/** Bytes that no visitor's JSON may pass, whatever the call: some thousand chosen items. */
const maxVisitorPayloadBytes = 256 * 1024;

/** Longest JSON payload in bytes that this viewer may send. */
export function maxPayloadBytesFor({ maxPayloadBytes }: AnyEndpoint, viewer: Viewer): number {
	return viewer.kind === 'user' ? maxPayloadBytes : Math.min(maxPayloadBytes, maxVisitorPayloadBytes);
}
