import type { Audit } from '../audit/createAudit.js';
import type { HomeMoves } from './createHomeMoves.js';

/** Wraps the service: each ordered move is written to the audit log. The audit line of its end is that of its job. */
export function auditedHomeMoves(moves: HomeMoves, audit: Audit): HomeMoves {
	return {
		...moves,
		start: (username, rootName, options = {}) =>
			audit.recorded(
				{
					...{ action: 'moveHome', account: username, root: rootName },
					...(options.allowsLostAccess ? { detail: 'other programs may lose access' } : {}),
				},
				() => moves.start(username, rootName, options),
				({ id }) => ({ job: id }),
			),
	};
}
