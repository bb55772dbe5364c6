import { z } from 'zod';

/** A schema of checkpoints that also reads those whose fields were saved under former names. */
export function withNewNames<T extends z.ZodType>(schema: T, names: Readonly<Record<string, string>>) {
	return z.preprocess((saved) => {
		if (typeof saved !== 'object' || saved === null || Array.isArray(saved)) return saved;
		const fields = new Map(Object.entries(saved));
		for (const [former, name] of Object.entries(names)) {
			if (fields.has(former) && !fields.has(name)) fields.set(name, fields.get(former));
			fields.delete(former);
		}
		return Object.fromEntries(fields);
	}, schema);
}
