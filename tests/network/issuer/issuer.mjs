// An authorization server on this machine: node issuer.mjs FOLDER PORT KEYS, where FOLDER has the packages of the lock
// file and KEYS is a JWKS file with private keys. A client's name says what its tokens are: those of `brief` last a
// second, those of `limited` have the claim `projects`.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, port, keys] = process.argv.slice(2);
const { default: Provider } = await import(pathToFileURL(createRequire(`${folder}/`).resolve("oidc-provider")).href);

const client = (name) => ({
  client_id: name,
  client_secret: `secret of ${name}`,
  token_endpoint_auth_method: "client_secret_post",
  id_token_signed_response_alg: "ES256",
  grant_types: ["client_credentials"],
  redirect_uris: [],
  response_types: [],
});
const issuer = new Provider(`http://127.0.0.1:${port}`, {
  clients: ["teller", "brief", "limited"].map(client),
  jwks: JSON.parse(readFileSync(keys, "utf8")),
  features: {
    clientCredentials: { enabled: true },
    devInteractions: { enabled: false },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (context, resource, { clientId }) => ({
        scope: "memory:read memory:write memory:metrics",
        audience: resource,
        accessTokenFormat: "jwt",
        accessTokenTTL: clientId === "brief" ? 1 : 600,
        jwt: { sign: { alg: "ES256" } },
      }),
    },
  },
  extraTokenClaims: (context, token) => (token.clientId === "limited" ? { projects: ["mine"] } : undefined),
});
issuer.listen(Number(port), "127.0.0.1");
