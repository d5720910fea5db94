//! Who sends, and with which tokens.

/// A tenant of the gateway.
#[derive(Debug, Clone, Copy)]
pub struct Tenant {
    /// Its instance.
    pub instance: &'static str,
    /// Its bearer token.
    pub token: &'static str,
    /// The token that replaces it: both are good.
    pub rotated_token: &'static str,
    /// Its number at the provider.
    pub phone_number_id: &'static str,
}

/// Every tenant.
pub const TENANTS: [Tenant; 2] = [
    Tenant {
        instance: "loja-1",
        token: "token-of-loja-1",
        rotated_token: "next-token-of-loja-1",
        phone_number_id: "15550001",
    },
    Tenant {
        instance: "loja-2",
        token: "token-of-loja-2",
        rotated_token: "next-token-of-loja-2",
        phone_number_id: "15550002",
    },
];

/// The account's token, which creates instances.
pub const ACCOUNT_TOKEN: &str = "token-of-the-account";

/// The operator's token.
pub const ADMIN_TOKEN: &str = "token-of-the-operator";

/// The tenant of an instance; the first, where a plan names none that exists.
pub fn tenant(instance: &str) -> Tenant {
    TENANTS.into_iter().find(|tenant| tenant.instance == instance).unwrap_or(TENANTS[0])
}
