import { Failure, isFailure } from '@stowage/rules';

const attempts = 3;

/**
 * Opens and sends again a file that was changed between its stat and its first byte. A file that changes each time, such as a log file,
 * is refused as `unavailable`: a later attempt may succeed.
 */
export async function retryIfChanged<T>(openAndSend: () => Promise<T>): Promise<T> {
	for (let attempt = 1; ; attempt++) {
		try {
			return await openAndSend();
		} catch (error) {
			if (!isFailure(error, 'conflict')) throw error;
			if (attempt < attempts) continue;
			const sentence = 'It is being changed again and again. Please try again in a moment.';
			throw new Failure('unavailable', sentence, { cause: error, retryAfter: 5 });
		}
	}
}
