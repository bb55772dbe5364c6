import { useQuery } from '@tanstack/react-query';
import { folderQuery } from './folderQuery.js';

/** Whether folders of others are shared with the user. Events keep the list of these current (`useFolderEvents`). */
export function useHasShared(isSignedIn: boolean): boolean {
	const { data } = useQuery({
		...folderQuery('shared', '', true),
		enabled: isSignedIn,
		staleTime: 60_000,
		// However fresh: a hidden tab hears no events.
		refetchOnWindowFocus: 'always',
		structuralSharing: false,
	});
	return isSignedIn && data !== undefined && data.entries.length > 0;
}
