import { z } from 'zod';

/** A schema of checkpoints that also reads those whose fields were saved under former names. */
export function withNewNames<T extends z.ZodType>(schema: T, names: Readonly<Record<string, string>>) {
	return z.preprocess((saved) => {
		if (typeof saved !== 'object' || saved === null) return saved;
		return Object.fromEntries(Object.entries(saved).map(([name, value]) => [names[name] ?? name, value]));
	}, schema);
}
