import { type AuditEntry, changeActions, securityActions } from './auditLine.js';

/**
 * Lines that have files and a share of the log of their own, so that a flood of one class pushes out no other:
 * `security` is sign-ins, accounts and the administrator's orders, `attempts` what anybody can cause without an account, `changes` what
 * users do, and `visits` what visitors do and what is read.
 */
export const auditClasses = ['security', 'attempts', 'changes', 'visits'] as const;

export type AuditClass = (typeof auditClasses)[number];

/** The part of `audit.maxSize` that each class has in any case; it may have what the others leave. */
export const auditShares: Record<AuditClass, number> = {
	security: 1 / 4,
	attempts: 1 / 8,
	changes: 3 / 8,
	visits: 1 / 4,
};

export function classOf({ action, outcome, actor, user }: AuditEntry): AuditClass {
	if (action === 'signInFailed' || (action === 'signUp' && outcome !== 'ok')) return 'attempts';
	if (securityActions.some((each) => each === action)) return 'security';
	const isChange = changeActions.some((each) => each === action);
	// Of a thousand files that are removed by one order, not each may be a line.
	if (actor === 'administrator') return isChange && action !== 'delete' ? 'security' : 'changes';
	return isChange && user !== null ? 'changes' : 'visits';
}
