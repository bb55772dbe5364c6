import { type Area, isFailure } from '@stowage/rules';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { isTransient } from '../../../api/client/retries.js';
import { queryKeys } from '../../../api/queryKeys.js';
import { purgeVersion, type Version, versionsQuery } from '../../../api/versions.js';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { reasonOf } from '../operations/runEach.js';
import { versionsMessages } from './messages.js';

/** The versions of a file. One that is removed leaves the list at once, and comes back if it could not be removed. */
export function useVersions(area: Area, path: string) {
	const queryClient = useQueryClient();
	const { notify } = useNotify();
	const query = versionsQuery(area, path);
	const { data: versions, error, refetch } = useQuery({ ...query, refetchOnWindowFocus: true });

	const remove = async ({ id }: Version) => {
		await queryClient.cancelQueries(query);
		queryClient.setQueryData(query.queryKey, (all) => all?.filter((version) => version.id !== id));
		try {
			await purgeVersion(id);
		} catch (failure) {
			// Gone already, as it was to be.
			if (!isFailure(failure, 'notFound')) {
				notify({ intent: 'danger', message: versionsMessages.deleteVersionFailed, detail: reasonOf(failure) ?? '' });
				void refetch();
			}
		}
		// How many there are, and the space that they take.
		void queryClient.invalidateQueries({ queryKey: queryKeys.listings.all });
		void queryClient.invalidateQueries({ queryKey: queryKeys.session });
	};
	// What is shown stays while the server is away.
	const isKept = versions !== undefined && isTransient(error);
	return { versions, error: isKept ? null : error, retry: () => void refetch(), remove };
}
