import { Secret, TOTP } from 'otpauth';

const issuer = 'Stowage';

/** Time steps by which the clock of a phone may differ, each way (RFC 6238, section 5.2). */
const maxDrift = 1;

const recoveryCodeCount = 10;

/** 80 bits, which are 16 characters of base32. */
const recoveryCodeBytes = 10;

/** Base32, of 160 bits. */
export function newSecret(): string {
	return new Secret({ size: 20 }).base32;
}

/** The secret for an authenticator app, as in a QR code. */
export function secretUri(secret: string, username: string): string {
	return totpOf(secret, username).toString();
}

/** The time step whose code this is, or undefined for a wrong code. `code` is a normalized one. */
export function stepOf(secret: string, code: string, now: number): number | undefined {
	// The library throws for a text that is longer in bytes than in characters, such as digits of other scripts.
	if (!/^[0-9]{6}$/.test(code)) return undefined;
	const totp = totpOf(secret);
	const drift = totp.validate({ token: code, timestamp: now, window: maxDrift });
	return drift === null ? undefined : totp.counter({ timestamp: now }) + drift;
}

/** New recovery codes in groups of four characters, such as `MFRG-GZDF-MZTW-Q2LK`. */
export function newRecoveryCodes(): string[] {
	return Array.from({ length: recoveryCodeCount }, () => {
		const { base32 } = new Secret({ size: recoveryCodeBytes });
		return (base32.match(/.{4}/g) ?? []).join('-');
	});
}

/** One form of all ways to enter the same code. */
export function normalizedCode(entered: string): string {
	return entered.replaceAll(/[\s-]/g, '').toUpperCase();
}

/** What every app understands: SHA-1, six digits, 30 seconds. */
function totpOf(secret: string, label = ''): TOTP {
	return new TOTP({ issuer, label, secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: 30 });
}
