import { formatDate } from '@stowage/rules';

/** With so few codes left a user should get new ones. */
const few = 2;

export function areFew(codesLeft: number): boolean {
	return codesLeft <= few;
}

/** A secret in groups of four, in which it is easier to enter by hand. */
export function inGroups(secret: string): string {
	return secret.replaceAll(/.{4}(?=.)/g, '$& ');
}

export interface RecoveryCodesOf {
	codes: readonly string[];
	username: string;
	/** Where they are valid. */
	origin: string;
	createdAt: number;
}

/** The content of a file to be kept, with its purpose and date. */
export function recoveryCodesText({ codes, username, origin, createdAt }: RecoveryCodesOf): string {
	return [
		`Recovery codes for ${username} at ${origin}`,
		`Created on ${formatDate(createdAt)}`,
		'',
		'Each of them signs you in once, in place of the code of your authenticator app.',
		'',
		...codes,
		'',
	].join('\n');
}

export function recoveryCodesFileName(username: string): string {
	return `stowage-recovery-codes-${username}.txt`;
}
