import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts and authenticates texts for the processes that share a secret: a reader of the database can neither read nor forge them. */
export interface Encryption {
	encrypt(text: string): string;
	/** The text; undefined if it was encrypted with another secret, or not at all. */
	decrypt(encrypted: string): string | undefined;
}

export function createEncryption(purpose: string, secret: string): Encryption {
	const key = createHash('sha256').update(`${purpose} ${secret}`).digest();
	return {
		encrypt(text) {
			const nonce = randomBytes(nonceBytes);
			const cipher = createCipheriv('aes-256-gcm', key, nonce);
			const content = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
			return Buffer.concat([nonce, cipher.getAuthTag(), content]).toString('base64url');
		},
		decrypt(encrypted) {
			const bytes = Buffer.from(encrypted, 'base64url');
			if (bytes.length < nonceBytes + tagBytes) return undefined;
			const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceBytes));
			decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
			try {
				const content = bytes.subarray(nonceBytes + tagBytes);
				return Buffer.concat([decipher.update(content), decipher.final()]).toString();
			} catch {
				return undefined;
			}
		},
	};
}
