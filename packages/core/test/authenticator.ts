import { Secret, TOTP } from 'otpauth';

/** The code that an authenticator app with this secret shows at a time, milliseconds since the epoch. */
export function codeAt(secret: string, time = Date.now()): string {
	return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: time });
}
