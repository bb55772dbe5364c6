/**
 * Every refusal that a caller may expect: its HTTP status and the stable word for programs (`code` in an error answer).
 * Anything else that is thrown is a bug and is answered 500.
 */
export const failures = {
	invalid: { status: 400, code: 'INVALID' },
	invalidName: { status: 400, code: 'INVALID_NAME' },
	invalidPath: { status: 400, code: 'INVALID_PATH' },
	notSignedIn: { status: 401, code: 'NOT_SIGNED_IN' },
	badCredentials: { status: 401, code: 'BAD_CREDENTIALS' },
	/** The password is right, and a code of the second factor is missing or wrong. */
	secondFactor: { status: 401, code: 'SECOND_FACTOR' },
	/** The caller is signed in and has to confirm the password for this call. */
	passwordRequired: { status: 401, code: 'PASSWORD_REQUIRED' },
	forbidden: { status: 403, code: 'FORBIDDEN' },
	notOwner: { status: 403, code: 'NOT_OWNER' },
	protected: { status: 403, code: 'PROTECTED' },
	crossSite: { status: 403, code: 'CROSS_SITE' },
	notFound: { status: 404, code: 'NOT_FOUND' },
	noSuchUser: { status: 404, code: 'NO_SUCH_USER' },
	methodNotAllowed: { status: 405, code: 'METHOD_NOT_ALLOWED' },
	timeout: { status: 408, code: 'TIMEOUT' },
	alreadyExists: { status: 409, code: 'ALREADY_EXISTS' },
	conflict: { status: 409, code: 'CONFLICT' },
	expired: { status: 410, code: 'EXPIRED' },
	preconditionFailed: { status: 412, code: 'PRECONDITION_FAILED' },
	tooLarge: { status: 413, code: 'TOO_LARGE' },
	unsupportedMediaType: { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' },
	badRange: { status: 416, code: 'BAD_RANGE' },
	expectationFailed: { status: 417, code: 'EXPECTATION_FAILED' },
	misdirected: { status: 421, code: 'MISDIRECTED' },
	locked: { status: 423, code: 'LOCKED' },
	rateLimited: { status: 429, code: 'RATE_LIMITED' },
	headersTooLarge: { status: 431, code: 'HEADERS_TOO_LARGE' },
	checksumMismatch: { status: 460, code: 'CHECKSUM_MISMATCH' },
	unavailable: { status: 503, code: 'UNAVAILABLE' },
	storageFull: { status: 507, code: 'STORAGE_FULL' },
} as const;

export type FailureKind = keyof typeof failures;

export interface FailureOptions {
	cause?: unknown;
	/** Seconds after which a retry makes sense; sent as `Retry-After`. */
	retryAfter?: number;
	/** Further headers of the answer. */
	headers?: Readonly<Record<string, string>>;
}

/** Shared by all copies of this package in a process: a plugin may have one of its own. */
const brand: unique symbol = Symbol.for('@stowage/rules Failure') as never;

/** An expected refusal. Its message is a sentence for people and never shows a path of the host. */
export class Failure extends Error {
	readonly [brand] = true;
	readonly kind: FailureKind;
	readonly retryAfter: number | undefined;
	readonly headers: Readonly<Record<string, string>>;

	constructor(kind: FailureKind, message: string, options: FailureOptions = {}) {
		super(message, options.cause === undefined ? undefined : { cause: options.cause });
		this.name = 'Failure';
		this.kind = kind;
		this.retryAfter = options.retryAfter;
		this.headers = options.headers ?? {};
	}

	get status(): number {
		return failures[this.kind].status;
	}

	get code(): string {
		return failures[this.kind].code;
	}
}

/** Whether `error` is a Failure, of that kind if one is given, whichever copy of this package created it. */
export function isFailure(error: unknown, kind?: FailureKind): error is Failure {
	if (!(error instanceof Error) || !(brand in error)) return false;
	return kind === undefined || (error as Failure).kind === kind;
}

/** The kind of an error response's `code`, so that a client can throw the same Failure as the server. */
export function failureKind(code: string): FailureKind | undefined {
	for (const kind of Object.keys(failures) as FailureKind[]) {
		if (failures[kind].code === code) return kind;
	}
	return undefined;
}

/** The refusal for the lack of space on a disk of files. */
export function noFreeSpace(): Failure {
	return new Failure('storageFull', 'There is not enough free space.');
}

/** What was found; undefined where it fails as one of these kinds, such as `notFound`. */
export async function undefinedIf<T>(found: Promise<T>, ...kinds: readonly FailureKind[]): Promise<T | undefined> {
	try {
		return await found;
	} catch (error) {
		if (kinds.some((kind) => isFailure(error, kind))) return undefined;
		throw error;
	}
}
