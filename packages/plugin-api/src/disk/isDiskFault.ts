/** The system's codes for a disk that is away or fails. */
const codes: ReadonlySet<unknown> = new Set(['EIO', 'ENODEV', 'ENXIO', 'ESTALE', 'EHOSTDOWN', 'ETIMEDOUT', 'ENOTCONN']);

/** Whether the system reports a disk that is away or fails, which may come back by itself. */
export function isDiskFault(error: unknown): boolean {
	return error instanceof Error && 'code' in error && codes.has(error.code);
}
